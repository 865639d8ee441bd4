import * as z from 'zod';
import { extracted, questionAbout, unasked } from '../../../lib/agents/rules/extraction/asking.ts';
import { ExtractionRequest } from '../../../lib/agents/rules/extraction/request.ts';
import { ExtractionResult } from '../../../lib/agents/rules/extraction/result.ts';
import { readSource } from '../../../lib/agents/rules/extraction/source.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { fileReaders } from '../../../lib/bedrock/converse.ts';

/** So long after the request came a model has answered: the gateway waits 30 s, the start of a function included. */
const ANSWERED_WITHIN_MILLISECONDS = 26_000;

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/extract',
    summary: 'Extract definitions of agents from a file',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: ExtractionRequest,
    output: z.object({ data: z.object({ extractionResult: ExtractionResult }) }),
    message: 'Agents extracted successfully',
    errors: ['FAILED_PRECONDITION'],
    uses: { readers: fileReaders },
    impact: 'customers cannot turn files of guidelines into agents',
    // What is in a file is unpacked and read here, and a processor comes with memory.
    memoryMb: 1_024,
    example: {
      data: {
        fileBase64:
          'bmFtZSxpbnN0cnVjdGlvbnMsZW5hYmxlZApUb25lLEZsYWcgc2VudGVuY2VzIHRoYXQgc2hvdXQuLHllcwpMZWdhbCxGbGFnIHByb21pc2VzLixtYXliZQo=',
        mimeType: 'text/csv',
        fileName: 'guidelines.csv',
      },
      result: {
        data: {
          extractionResult: {
            agents: [{ name: 'Tone', instructions: 'Flag sentences that shout.', enabled: true }],
            summary:
              '1 agent extracted, 1 part of the file skipped. The rows were read by their columns: "name", "instructions", "enabled".',
            skipped: [
              {
                originalText: 'Legal | Flag promises. | maybe',
                reason: 'Column "enabled" must be yes or no, not "maybe".',
                row: 3,
              },
            ],
          },
        },
      },
    },
  },
  async ({ input, deps, now, log }) => {
    const source = readSource(input.mimeType, input.fileBase64);
    if ('result' in source) return { data: { extractionResult: source.result } };
    const { parts } = source;
    const reader = deps.readers.of(input.provider);
    if (!reader) return { data: { extractionResult: unasked(parts, input.provider) } };
    const { answers, ...reading } = await reader.ask(
      parts.parts.map(questionAbout),
      now + ANSWERED_WITHIN_MILLISECONDS,
    );
    log[reading.troubles.length > 0 ? 'warn' : 'info']('a model read a file', {
      provider: reader.provider,
      calls: answers.length,
      ...reading,
    });
    return { data: { extractionResult: extracted(parts, answers) } };
  },
);

export const handler = toLambda(endpoint);
