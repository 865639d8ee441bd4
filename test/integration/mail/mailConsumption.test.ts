import { describe, expect, test } from '@jest/globals';
import { mailConsumption } from '../../../infra/commands/cost/mails.ts';
import { measureMailConsumption } from '../../bench/mails/consumption.ts';

describe('the consumption of mails that npm run cost prices', () => {
  test('equals the measured consumption of mails and messages in Slack', async () => {
    const measured = await measureMailConsumption();
    const rounded = Object.entries(measured).map(([name, consumed]) => [
      name,
      Object.fromEntries(Object.entries(consumed).map(([part, value]) => [part, Math.round(value * 100) / 100])),
    ]);
    expect(Object.fromEntries(rounded)).toEqual(
      Object.fromEntries(Object.entries(mailConsumption).map(([name, { consumed }]) => [name, consumed])),
    );
  });
});
