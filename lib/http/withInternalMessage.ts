import { ApiError } from '../shared/errors.ts';
import { toApiError } from './middlewares.ts';

/**
 * Published clients depend on the message of some internal errors: an unexpected error becomes INTERNAL with `message`.
 */
export async function withInternalMessage<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (toApiError(error, '').status !== 'INTERNAL') throw error;
    throw new ApiError('INTERNAL', message, { cause: error });
  }
}
