import * as z from 'zod';
import { type BodyForm, defineEndpoint } from '../../lib/app/endpoint.ts';
import { toLambda } from '../../lib/http/lambda.ts';
import type { Handler } from '../../lib/http/stack.ts';
import type { Log } from '../../lib/observability/log.ts';

interface TestCall {
  readonly input: any;
  readonly log: Log;
}

interface Options {
  readonly input?: z.ZodType;
  readonly body?: BodyForm;
  readonly narrowBy?: string;
  readonly message?: string | null;
  /** What the endpoint does. By default, it returns its input. */
  readonly run?: (call: TestCall) => Promise<unknown>;
}

/** Returns the handler of a public endpoint without capabilities. Tests of the middlewares use it. */
export function testHandler({
  input = z.record(z.string(), z.unknown()),
  body = 'required',
  narrowBy,
  message = 'Echoed.',
  run,
}: Options = {}): Handler {
  const declaration = {
    path: '/v2/tests/echo',
    summary: 'Give back what was sent',
    auth: 'none',
    kind: 'read',
    input,
    body,
    output: z.looseObject({}),
    message,
    errors: [],
    uses: {},
    impact: 'nobody can test',
    example: { data: {}, result: { data: {} } },
    ...(narrowBy && { narrowBy: narrowBy as never }),
  } as const;
  const endpoint = defineEndpoint(declaration, async ({ input: parsed, log }) =>
    run ? ((await run({ input: parsed, log })) as Record<string, unknown>) : { data: parsed },
  );
  return toLambda(endpoint, { SERVICE_NAME: 'svc' });
}
