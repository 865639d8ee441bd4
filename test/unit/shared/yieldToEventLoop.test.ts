import { expect, test } from '@jest/globals';
import { yieldToEventLoop } from '../../../lib/shared/yieldToEventLoop.ts';

test('yieldToEventLoop gives each caller a different turn of the event loop, in the order of the calls', async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turnOf = async () => {
    await yieldToEventLoop();
    return turn;
  };
  const turns = await Promise.all([turnOf(), turnOf(), turnOf()]);
  const later = await turnOf();
  isOver = true;
  expect(new Set([...turns, later]).size).toBe(4);
  expect([...turns, later]).toEqual([...turns, later].toSorted((a, b) => a - b));
});
