import { JsonService } from '../../lib/net/jsonService.ts';
import { type ClientSettings, lambdaConfig } from './lambdaAws.ts';
import { LambdaCommand } from './lambdaCommand.ts';

interface Command extends LambdaCommand {
  readonly operation: string;
}

/**
 * Replaces the SDK's SQS client in the bundles (see build.ts). Unlike the SDK, it does not verify checksums of
 * messages, because TLS detects changes in transit.
 */
export class SQSClient {
  readonly #service: JsonService;

  constructor(settings: ClientSettings = {}) {
    const names = { signingName: 'sqs', target: 'AmazonSQS', version: '1.0' } as const;
    this.#service = new JsonService(lambdaConfig('sqs', settings), names);
  }

  async send({ operation, input }: Command): Promise<unknown> {
    return JSON.parse(await this.#service.call(operation, JSON.stringify(input)));
  }

  destroy(): void {
    this.#service.destroy();
  }
}

export class SendMessageBatchCommand extends LambdaCommand {
  readonly operation = 'SendMessageBatch';
}

export class GetQueueAttributesCommand extends LambdaCommand {
  readonly operation = 'GetQueueAttributes';
}
