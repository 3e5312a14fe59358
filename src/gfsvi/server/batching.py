"""Requests that arrive while others are computed are predicted together."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from starlette.concurrency import run_in_threadpool

Predict = Callable[[np.ndarray, float], list[dict[str, Any]]]


class _Waiting(NamedTuple):
    rows: np.ndarray
    level: float
    answer: "asyncio.Future[list[dict[str, Any]]]"


class Batches:
    """One prediction at a time, of all rows that wait for one at the same level.

    Args:
        predict: Predicts prepared rows; raises `ValueError` for rows that cannot be predicted.
        most_rows: Rows per prediction.
        most_waiting: Requests that may wait; further ones are turned away.
    """

    def __init__(self, predict: Predict, most_rows: int, most_waiting: int):
        self._predict, self._most_rows = predict, most_rows
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(most_waiting)
        self._worker: asyncio.Task[None] | None = None

    async def predict(self, rows: np.ndarray, level: float) -> list[dict[str, Any]]:
        """The predictions of these rows; raises `asyncio.QueueFull` if too many wait."""
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        answer = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(_Waiting(rows, level, answer))
        return await answer

    async def _work(self) -> None:
        kept: _Waiting | None = None
        while True:
            batch = [kept or await self._waiting.get()]
            kept = None
            size = len(batch[0].rows)
            while not self._waiting.empty():
                following = self._waiting.get_nowait()
                size += len(following.rows)
                if size > self._most_rows or following.level != batch[0].level:
                    kept = following
                    break
                batch.append(following)
            await self._answer(batch)

    async def _answer(self, batch: list[_Waiting]) -> None:
        rows = np.concatenate([waiting.rows for waiting in batch])
        try:
            found = await run_in_threadpool(self._predict, rows, batch[0].level)
        except Exception as error:
            if len(batch) == 1:
                _settle(batch[0], error=error)
                return
            for waiting in batch:  # one bad row must not spoil the answers of others
                await self._answer([waiting])
            return
        start = 0
        for waiting in batch:
            _settle(waiting, found=found[start : start + len(waiting.rows)])
            start += len(waiting.rows)


def _settle(
    waiting: _Waiting,
    *,
    found: list[dict[str, Any]] | None = None,
    error: Exception | None = None,
) -> None:
    if waiting.answer.done():  # the client has gone
        return
    if error is not None:
        waiting.answer.set_exception(error)
    else:
        waiting.answer.set_result(found or [])
