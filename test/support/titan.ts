import type { ServerHttp2Stream } from 'node:http2';
import { lexical } from '../../lib/memory/rules/lexical.ts';
import { startBedrock } from './bedrock.ts';

/** What the stand-in does instead of giving a vector. */
export type TitanReply =
  | { readonly status: number; readonly error: string }
  | { readonly body: string }
  /** No answer, ever, before or after its headers. */
  | 'hang'
  | 'stall'
  /** The connection ends. */
  | 'reset';

export interface TitanCall {
  readonly path: string;
  readonly inputText: string;
  readonly dimensions: number;
  readonly normalize: boolean;
  readonly signed: boolean;
}

export interface Titan {
  /** What it was asked, in order. */
  readonly calls: TitanCall[];
  /** The most calls that were under way at the same time. */
  most: number;
  /** What to do about a call, counted from 0; nothing said, it gives the vector. */
  script: (call: TitanCall, number: number) => TitanReply | undefined | Promise<TitanReply | undefined>;
  stop(): Promise<void>;
}

/** The vector that the stand-in gives: of a space that has nothing to do with the lexical one, and not of length 1. */
export function titanVector(text: string): number[] {
  const vector = [...lexical(text)];
  return [...vector.slice(100), ...vector.slice(0, 100)].map((value) => -3 * value);
}

/** Starts a stand-in for Titan, as `startBedrock` says. */
export async function startTitan(): Promise<Titan> {
  let open = 0;
  const titan: Titan = {
    calls: [],
    most: 0,
    script: () => undefined,
    stop: await startBedrock(
      async (stream, headers, asked: Pick<TitanCall, 'inputText' | 'dimensions' | 'normalize'>) => {
        stream.on('close', () => (open -= 1));
        titan.most = Math.max(titan.most, (open += 1));
        const call = {
          ...asked,
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
  if (reply === 'reset') return stream.session?.destroy();
  if (reply === 'stall') return stream.respond({ ':status': 200, 'content-type': 'application/json' });
  if ('body' in reply) {
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    stream.end(reply.body);
    return;
  }
  stream.respond({ ':status': reply.status, 'content-type': 'application/json', 'x-amzn-errortype': reply.error });
  // As the service may: the error repeats what it was sent.
  stream.end(JSON.stringify({ message: `${reply.error}: ${call.inputText.slice(0, 100)}` }));
}
