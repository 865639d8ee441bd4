import { ApiError } from '../shared/errors.ts';
import { toApiError } from './middlewares.ts';

/** Runs `work`. An unexpected error becomes INTERNAL with this message, which clients depend on. Other errors stay as they are. */
export async function withInternalMessage<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (toApiError(error, '').status !== 'INTERNAL') throw error;
    throw new ApiError('INTERNAL', message, { cause: error });
  }
}
