import * as z from 'zod';
import { ExtractionRequest } from '../../../lib/agents/rules/extraction/extractionRequest.ts';
import { ExtractionResult } from '../../../lib/agents/rules/extraction/extractionResult.ts';
import {
  extractFromAnswers,
  questionAbout,
  skipAllParts,
} from '../../../lib/agents/rules/extraction/modelQuestions.ts';
import { readSource } from '../../../lib/agents/rules/extraction/readSource.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findFileModel } from '../../../lib/bedrock/converse.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import * as logMessages from '../../../lib/observability/logMessages.ts';

/**
 * The model must answer within this many milliseconds after the start of the request. API Gateway waits 30 s for the
 * function, including its cold start.
 */
const MODEL_BUDGET_MS = 26_000;

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/extract',
    summary: 'Extract definitions of agents from a file',
    description:
      'Returns agents for `/v2/agents/create`, and stores nothing. ' +
      'A table whose columns have titles such as `name`, `instructions` and `enabled` is read by its columns. All other files go to the model that the operator of this service has set up. Without one, all parts are in `skipped`. ' +
      'A file that cannot be read is INVALID_ARGUMENT. A model that cannot be used is FAILED_PRECONDITION, one that is busy UNAVAILABLE, and one that does not answer in time DEADLINE_EXCEEDED. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: ExtractionRequest,
    output: z.object({ data: z.object({ extractionResult: ExtractionResult.describe('What was made of the file.') }) }),
    message: 'Agents extracted successfully',
    errors: ['FAILED_PRECONDITION'],
    uses: { findModel: findFileModel },
    impact: 'customers cannot extract review agents from files',
    // Reading a file needs more memory than other calls. It also needs more CPU time, which Lambda allots in proportion
    // to memory.
    memoryMb: 1_769,
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
    const { format, charset } = input.mimeType;
    const source = readSource(format, input.fileBase64, charset);
    if ('result' in source) return { data: { extractionResult: source.result } };
    const { parts } = source;
    const model = deps.findModel(input.provider);
    if (!model) return { data: { extractionResult: skipAllParts(parts, input.provider) } };
    const { answers, ...usage } = await model.ask(parts.parts.map(questionAbout), now + MODEL_BUDGET_MS);
    log[usage.problems.length > 0 ? 'warn' : 'info'](logMessages.agentFileRead, {
      provider: model.provider,
      calls: answers.length,
      ...usage,
    });
    return { data: { extractionResult: extractFromAnswers(parts, answers) } };
  },
);

export const handler = toLambda(endpoint);
