import type { ServerHttp2Stream } from 'node:http2';
import { lexical } from '../../lib/memory/rules/lexical.ts';
import { startBedrock } from './bedrock.ts';

/** A reply without a vector. */
export type TitanReply =
  | { readonly status: number; readonly error: string }
  | { readonly body: string }
  /** The fake never answers. */
  | 'hang'
  /** The fake sends headers but no body. */
  | 'stall'
  /** The fake closes the connection. */
  | 'reset';

interface TitanCall {
  readonly path: string;
  readonly inputText: string;
  readonly dimensions: number;
  readonly normalize: boolean;
  readonly signed: boolean;
}

export interface Titan {
  /** The calls so far, in order. */
  readonly calls: TitanCall[];
  /** The largest number of calls at the same time. */
  maxParallel: number;
  /**
   * Returns the reply to a call. If it returns undefined, the fake replies with the vector. The first call has the
   * number 0.
   */
  script: (call: TitanCall, number: number) => TitanReply | undefined | Promise<TitanReply | undefined>;
  stop(): Promise<void>;
}

/** Returns the vector that the fake gives for a text. It differs from the lexical vector, and its length is not 1. */
export function titanVector(text: string): number[] {
  const vector = [...lexical(text)];
  return [...vector.slice(100), ...vector.slice(0, 100)].map((value) => -3 * value);
}

/** Starts a fake Titan with `startBedrock`. */
export async function startTitan(): Promise<Titan> {
  let open = 0;
  const titan: Titan = {
    calls: [],
    maxParallel: 0,
    script: () => undefined,
    stop: await startBedrock(
      async (stream, headers, request: Pick<TitanCall, 'inputText' | 'dimensions' | 'normalize'>) => {
        stream.on('close', () => (open -= 1));
        titan.maxParallel = Math.max(titan.maxParallel, (open += 1));
        const call = {
          ...request,
          path: String(headers[':path']),
          signed: String(headers.authorization).startsWith('AWS4-HMAC-SHA256 '),
        };
        answer(
          stream,
          call,
          (await titan.script(call, titan.calls.push(call) - 1)) ?? {
            body: JSON.stringify({ embedding: titanVector(call.inputText), inputTextTokenCount: 3 }),
          },
        );
      },
    ),
  };
  return titan;
}

function answer(stream: ServerHttp2Stream, call: TitanCall, reply: TitanReply): void {
  if (reply === 'hang') return;
  if (reply === 'reset') return void stream.session?.destroy();
  if (reply === 'stall') return void stream.respond({ ':status': 200, 'content-type': 'application/json' });
  if ('body' in reply) {
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    stream.end(reply.body);
    return;
  }
  stream.respond({ ':status': reply.status, 'content-type': 'application/json', 'x-amzn-errortype': reply.error });
  // The fake's error contains the text of the request, because a real error of Bedrock can contain it.
  stream.end(JSON.stringify({ message: `${reply.error}: ${call.inputText.slice(0, 100)}` }));
}
