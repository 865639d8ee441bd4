import { ApiError } from '../shared/errors.ts';
import { toApiError } from './middlewares.ts';

/**
 * Does something whose unexpected failure the specification words: it becomes INTERNAL with this message. What the caller
 * is told otherwise stays as it is: refusals, and that AWS could not cope.
 */
export async function withInternalMessage<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (toApiError(error, '').status !== 'INTERNAL') throw error;
    throw new ApiError('INTERNAL', message, { cause: error });
  }
}
