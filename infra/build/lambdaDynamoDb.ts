import { type ClientSettings, lambdaConfig, urlOf } from './lambdaAws.ts';

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
    this.config = {
      ...lambdaConfig('dynamodb', settings),
      serviceConfiguredEndpoint: () => Promise.resolve(undefined),
      endpointProvider: ({ IsSearchOperation }: { readonly IsSearchOperation: boolean }) => ({
        url: urlOf(IsSearchOperation ? 'search-dynamodb' : 'dynamodb', process.env),
      }),
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
