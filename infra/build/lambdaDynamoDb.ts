import { type ClientSettings, lambdaConfig } from './lambdaAws.ts';

interface ServiceError {
  readonly name?: string;
  readonly message: string;
  readonly $fault?: 'client' | 'server';
  readonly $metadata: object;
}

/**
 * Replaces the SDK's DynamoDB client in the bundles (see build.ts). `lib/table/documentClient.ts` sends the requests
 * itself. It reads only the configuration of this client, and throws the error classes of this file.
 */
export class DynamoDBClient {
  readonly config;

  constructor(settings: ClientSettings = {}) {
    const config = lambdaConfig('dynamodb', settings);
    this.config = {
      ...config,
      serviceConfiguredEndpoint: async () => String(await config.url()),
      endpointProvider: ({ Endpoint }: { readonly Endpoint: string }) => ({ url: new URL(Endpoint) }),
      useFipsEndpoint: () => Promise.resolve(false),
      useDualstackEndpoint: () => Promise.resolve(false),
    };
  }
}

export class DynamoDBServiceException extends Error {
  readonly $fault;
  readonly $metadata;

  constructor({ name, message, $fault = 'client', $metadata }: ServiceError) {
    super(message);
    if (name !== undefined) this.name = name;
    this.$fault = $fault;
    this.$metadata = $metadata;
  }
}

export class ConditionalCheckFailedException extends DynamoDBServiceException {
  constructor({ message, $metadata, ...fields }: ServiceError) {
    super({ name: 'ConditionalCheckFailedException', message, $metadata });
    Object.assign(this, fields);
  }
}
