import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logWith } from '../../../lib/observability/log.ts';
import * as logMessages from '../../../lib/observability/logMessages.ts';

type Line = Record<string, any>;
let written: { stdout: Line[]; stderr: Line[] };

beforeAll(() => {
  delete process.env.POWERTOOLS_DEV;
  process.env.AWS_LAMBDA_LOG_LEVEL = 'info';
  process.env.POWERTOOLS_LOG_LEVEL = 'ERROR';
  process.env._X_AMZN_TRACE_ID = 'Parent=1;Root=1-abc;Sampled=0';
});
beforeEach(() => {
  written = { stdout: [], stderr: [] };
  for (const stream of ['stdout', 'stderr'] as const)
    jest.spyOn(process[stream], 'write').mockImplementation((text) => {
      expect(String(text)).toMatch(/^[^\n]*\n$/);
      written[stream].push(JSON.parse(String(text)) as Line);
      return true;
    });
});
afterEach(() => void jest.restoreAllMocks());

const log = () => logWith('svc', { requestId: 'r' });

describe('a log line', () => {
  test('has level, message, time, service, trace and the keys of the log and of the line', () => {
    log().info(logMessages.requestCompleted, { status: 200, tenant: undefined });
    expect(written.stdout).toEqual([
      {
        level: 'INFO',
        message: 'request completed',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        service: 'svc',
        xray_trace_id: '1-abc',
        requestId: 'r',
        status: 200,
      },
    ]);
  });

  test('goes to the error stream from level WARN on', () => {
    log().warn(logMessages.loginLinkSent);
    log().error(logMessages.loginLinkSent);
    expect(written.stderr.map(({ level }) => level)).toEqual(['WARN', 'ERROR']);
  });

  test('has the name, stack, cause and additional fields of an error', () => {
    const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER' });
    log().error(logMessages.requestCompleted, { error: new Error('outer', { cause }) });
    expect(written.stderr[0]?.error).toEqual({
      name: 'Error',
      message: 'outer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { name: 'TypeError', message: 'inner', code: 'E_INNER', stack: expect.any(String) },
    });
  });

  test('leaves out a circular reference, and writes an object that occurs twice', () => {
    const error = new Error('circular');
    error.cause = error;
    const shared = { id: 1n };
    const circular = { name: 'list', self: undefined as unknown };
    circular.self = [circular];
    log().info(logMessages.requestCompleted, { error, circular, both: [shared, shared] });
    expect(written.stdout[0]).toMatchObject({
      error: { message: 'circular' },
      circular: { name: 'list', self: [null] },
      both: [{ id: '1' }, { id: '1' }],
    });
    expect(written.stdout[0]?.error).not.toHaveProperty('cause');
  });
});
