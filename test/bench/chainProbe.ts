/** Makes the measurements of chain.ts in its own process. The command-line argument is the log level. */
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import * as z from 'zod';
import { defineEndpoint } from '../../lib/app/endpoint.ts';
import { successBody } from '../../lib/http/envelope.ts';
import { toLambda } from '../../lib/http/lambda.ts';
import { Id, Text } from '../../lib/shared/schema.ts';
import { startEngine } from '../support/engine.ts';
import { eventOf } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';

export interface ChainTimes {
  readonly label: string;
  readonly ours: number;
  readonly bare: number;
}

const BATCH = 1_000;
const BATCHES = 60;
const WARM_UP = 20;

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<unknown>;

const engine = await startEngine({ sdk: true });
process.env.POWERTOOLS_LOG_LEVEL = process.argv[2];
const { keyHeaders } = await newWorkspace();
const context = {
  awsRequestId: 'request',
  functionName: 'bench',
  getRemainingTimeInMillis: () => 10_000,
} as unknown as Context;

const times: ChainTimes[] = [];
for (const [label, bytes] of [
  ['100 bytes', 100],
  ['10 KB', 10_000],
] as const) {
  const text = 'x'.repeat(bytes);
  const answer = { data: [{ id: 'acme', text }] };
  const ours: Handler = toLambda(
    defineEndpoint(
      {
        path: '/v2/bench/get',
        summary: 'Answers always the same',
        auth: 'apiKey',
        kind: 'read',
        input: z.object({ organizationId: Id, text: Text }),
        output: z.object({ data: z.array(z.object({ id: z.string(), text: z.string() })) }),
        message: 'Done.',
        errors: [],
        uses: {},
        impact: 'nobody',
        example: { data: {}, result: {} },
      },
      async () => answer,
    ),
  );
  const bare: Handler = async ({ body = '' }) => {
    JSON.parse(body);
    return { statusCode: 200, body: successBody('Done.', answer) };
  };
  const event = eventOf(JSON.stringify({ data: { organizationId: 'acme', text } }), keyHeaders);
  times.push({ label, ...(await compare(ours, bare, event)) });
}
process.send!(times);
process.disconnect();
await engine.stop();

/**
 * Measures both handlers in alternating batches, so that other load on the machine slows both. Returns the mean CPU
 * time of a call of each handler, in microseconds.
 */
async function compare(
  ours: Handler,
  bare: Handler,
  event: APIGatewayProxyEventV2,
): Promise<{ ours: number; bare: number }> {
  let [oursTotal, bareTotal] = [0, 0];
  for (let batch = 0; batch < WARM_UP + BATCHES; batch++) {
    const [oursTook, bareTook] = [await microsecondsPerCall(ours, event), await microsecondsPerCall(bare, event)];
    if (batch < WARM_UP) continue;
    oursTotal += oursTook;
    bareTotal += bareTook;
  }
  return { ours: oursTotal / BATCHES, bare: bareTotal / BATCHES };
}

/** Returns the CPU time of a call. Waits on a busy machine do not count as CPU time. */
async function microsecondsPerCall(handler: Handler, event: APIGatewayProxyEventV2): Promise<number> {
  const before = process.threadCpuUsage();
  for (let i = 0; i < BATCH; i++) await handler(event, context);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / BATCH;
}
