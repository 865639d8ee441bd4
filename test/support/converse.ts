import type { ServerHttp2Stream } from 'node:http2';
import { startBedrock } from './bedrock.ts';

/** A reply of the fake Converse API. */
type ConverseReply =
  /**
   * The fields of a tool use. If the model stops for another reason than `tool_use`, that reason is a field too. `moreInputs`
   * are the inputs of further tool uses in the same answer.
   */
  | { readonly input: unknown; readonly moreInputs?: readonly unknown[]; readonly stopReason?: string }
  /** A text instead of a tool use. */
  | { readonly text: string; readonly stopReason: string }
  | { readonly status: number; readonly error: string }
  /** A body that is sent unchanged. */
  | { readonly body: string }
  /** The fake never answers. */
  | 'hang';

interface ConverseCall {
  readonly modelId: string;
  /** The text of the file. A PDF is base64. */
  readonly file: string;
  readonly task: string;
  /** The whole request. */
  readonly request: any;
}

export interface Converse {
  /** The calls so far, in order. */
  readonly calls: ConverseCall[];
  /** Returns the reply to a call. The first call has the number 0. */
  script: (call: ConverseCall, number: number) => ConverseReply;
  stop(): Promise<void>;
}

/** Starts a fake Converse API with `startBedrock`. */
export async function startConverse(): Promise<Converse> {
  const converse: Converse = {
    calls: [],
    script: () => ({ input: { agents: [], skipped: [] } }),
    stop: await startBedrock((stream, headers, request) => {
      const [, modelId = ''] = /^\/model\/([^/]+)\/converse$/.exec(String(headers[':path'])) ?? [];
      const [about, { text: task }] = request.messages[0].content;
      const call = {
        modelId: decodeURIComponent(modelId),
        file: about.text ?? about.document.source.bytes,
        task,
        request,
      };
      answer(stream, call, converse.script(call, converse.calls.push(call) - 1));
    }),
  };
  return converse;
}

function answer(stream: ServerHttp2Stream, { request }: ConverseCall, reply: ConverseReply): void {
  if (reply === 'hang') return;
  if ('status' in reply) {
    stream.respond({ ':status': reply.status, 'content-type': 'application/json', 'x-amzn-errortype': reply.error });
    // The fake's error contains the request, because a real error of Bedrock can contain it.
    stream.end(JSON.stringify({ message: JSON.stringify(request.messages) }));
    return;
  }
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end('body' in reply ? reply.body : JSON.stringify(converseOutput(reply)));
}

function converseOutput(reply: Extract<ConverseReply, { input: unknown } | { text: string }>): object {
  const content =
    'text' in reply
      ? [{ text: reply.text }]
      : [reply.input, ...(reply.moreInputs ?? [])].map((input, index) => ({
          toolUse: { toolUseId: `tooluse_${index + 1}`, name: 'record_agents', input },
        }));
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: reply.stopReason ?? 'tool_use',
    usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 },
    metrics: { latencyMs: 5 },
  };
}
