import { ApiError } from '../shared/errors.ts';
import { toApiError } from './middlewares.ts';

/**
 * Runs `work` and returns its result. Turns an unexpected error into INTERNAL with this message, because published
 * clients depend on the message. Rethrows other errors unchanged.
 */
export async function withInternalMessage<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (toApiError(error, '').status !== 'INTERNAL') throw error;
    throw new ApiError('INTERNAL', message, { cause: error });
  }
}
