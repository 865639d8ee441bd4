import type * as z from 'zod';
import { validateRequest } from '../../lib/http/validate.ts';
import { ApiError, type Issue } from '../../lib/shared/errors.ts';

/** Returns the issues for which an endpoint with this schema refuses `data`. The list is empty if it accepts the data. */
export function requestIssues(schema: z.ZodType, data: unknown): Issue[] {
  try {
    validateRequest(schema, data);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details as { issues: Issue[] }).issues;
  }
}
