import { type AwsAnswer, type AwsCall, errorAnswer } from '../iam/awsService.ts';
import type { Measurements } from '../metrics/measurements.ts';
import {
  addCapacityParameter,
  canAddCapacityParameter,
  capacityKind,
  extractCapacity,
  scaledCapacity,
} from './consumedCapacity.ts';
import type { EngineConnections } from './engineCall.ts';
import { GroupedWrites, type Write } from './groupedWrites.ts';
import { findRequestFault, type IndexKeySizes } from './requestFault.ts';

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

export interface TableCallsOptions {
  readonly engine: Pick<EngineConnections, 'post'>;
  /** Only writes to these tables are grouped. */
  readonly keyNames: ReadonlyMap<string, readonly string[]>;
  readonly indexKeySizes: IndexKeySizes;
  readonly measurements: Pick<Measurements, 'recordCapacity'>;
  readonly onWrite: () => void;
}

export class TableCalls {
  readonly #options: TableCallsOptions;
  readonly #writes: GroupedWrites;

  constructor(options: TableCallsOptions) {
    this.#options = options;
    this.#writes = new GroupedWrites(async (write, share) => {
      const answer = await this.#send(write, share);
      options.onWrite();
      return answer;
    }, options.keyNames);
  }

  async answer({ operation, input, body, isAborted }: AwsCall): Promise<AwsAnswer> {
    const fault = findRequestFault(operation, input, this.#options.indexKeySizes);
    if (fault !== undefined) return errorAnswer(400, 'ValidationException', fault);
    const call = { operation, input, body };
    try {
      return await (WRITES.has(operation) ? this.#writes.send(call) : this.#send(call, 1, isAborted));
    } catch (error) {
      // The caller's SDK retries a server error.
      return errorAnswer(500, 'InternalServerError', `The table engine did not answer: ${(error as Error).message}`);
    }
  }

  async #send({ operation, input, body }: Write, share: number, isAborted?: () => boolean): Promise<AwsAnswer> {
    const { engine, measurements } = this.#options;
    const kind = capacityKind(operation);
    const isCapacityAdded = kind !== undefined && canAddCapacityParameter(input, body);
    const target = `DynamoDB_20120810.${operation}`;
    const answer = await engine.post(target, isCapacityAdded ? addCapacityParameter(body) : body, isAborted);
    if (kind === undefined) return answer;
    const { consumed, body: answerBody } = extractCapacity(answer.body, isCapacityAdded);
    for (const each of consumed) measurements.recordCapacity(kind, scaledCapacity(each, share));
    return { status: answer.status, body: answerBody };
  }
}
