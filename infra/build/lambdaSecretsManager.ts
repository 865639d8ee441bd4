import { JsonService } from '../../lib/net/jsonService.ts';
import { type ClientSettings, lambdaConfig } from './lambdaAws.ts';
import { LambdaCommand } from './lambdaCommand.ts';

/** Replaces the SDK's Secrets Manager client in the bundles (see build.ts). */
export class SecretsManagerClient {
  readonly #service: JsonService;

  constructor(settings: ClientSettings = {}) {
    const names = { signingName: 'secretsmanager', target: 'secretsmanager', version: '1.1' } as const;
    this.#service = new JsonService(lambdaConfig('secretsmanager', settings), names);
  }

  async send({ input }: GetSecretValueCommand, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown> {
    return JSON.parse(await this.#service.call('GetSecretValue', JSON.stringify(input), options));
  }

  destroy(): void {
    this.#service.destroy();
  }
}

export class GetSecretValueCommand extends LambdaCommand {}
