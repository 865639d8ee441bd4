import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { readErasures } from '../../../../../lib/deletion/erasures.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { ApiError } from '../../../../../lib/shared/errors.ts';
import { Id } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/data/delete/status',
    summary: "Get the progress of a deletion of users' data",
    description:
      'The status of a deletion can be read for 90 days. An unknown or older `jobId` is NOT_FOUND. To start a deletion, call `/v2/users/data/delete`.',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({ jobId: Id.describe('The deletion, by the id that `/v2/users/data/delete` returned.') }),
    output: z.object({
      data: z.object({
        isDeleteCompleted: z.boolean().describe('Whether everything is deleted.'),
        tasksLeft: z.int().describe('The number of tasks that are not done yet.'),
        lastTaskCompletedTime: z
          .number()
          .nullable()
          .describe('When the last task so far was done, in epoch milliseconds. Null before the first.'),
      }),
    }),
    message: 'Data fetched successfully.',
    errors: ['NOT_FOUND'],
    uses: { erasures: readErasures },
    impact: 'customers cannot see whether the data of their users is deleted',
    example: {
      data: { jobId: 'job_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { isDeleteCompleted: true, tasksLeft: 0, lastTaskCompletedTime: 1767225600000 } },
    },
  },
  async ({ input: { jobId }, caller, deps }) => {
    const erasure = await deps.erasures.status(caller.tenant, jobId);
    if (!erasure) throw new ApiError('NOT_FOUND', 'Deletion does not exist');
    return {
      data: {
        isDeleteCompleted: erasure.tasksLeft === 0,
        tasksLeft: erasure.tasksLeft,
        lastTaskCompletedTime: erasure.lastTaskCompletedAt ?? null,
      },
    };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
