import { StartError } from '../startError.ts';
import { mayInvoke } from './eventSourceModels.ts';
import type { FunctionModel } from './functionModel.ts';
import type { Resource } from './template.ts';

/** AWS_LAMBDA: a token for the authorizer. AWS_IAM: a signature. */
export type AuthMode = 'AWS_LAMBDA' | 'AWS_IAM';

export interface NamespaceModel {
  readonly name: string;
  readonly publish: readonly AuthMode[];
  readonly subscribe: readonly AuthMode[];
}

export interface EventApiModel {
  readonly arn: string;
  readonly authorizer: FunctionModel;
  readonly namespaces: ReadonlyMap<string, NamespaceModel>;
}

interface EventConfig {
  readonly AuthProviders: readonly {
    readonly AuthType: string;
    readonly LambdaAuthorizerConfig?: { readonly AuthorizerUri: string };
  }[];
  readonly ConnectionAuthModes: readonly { readonly AuthType: string }[];
  readonly DefaultPublishAuthModes: readonly { readonly AuthType: string }[];
  readonly DefaultSubscribeAuthModes: readonly { readonly AuthType: string }[];
}

const APPSYNC = 'appsync.amazonaws.com';

/**
 * Returns undefined without an Event API. Throws a `StartError` for an API that could not authorize users, and for what
 * the local run does not support.
 */
export function eventApiOf(
  apis: readonly Resource[],
  namespaces: readonly Resource[],
  permissions: readonly Resource[],
  functions: readonly FunctionModel[],
): EventApiModel | undefined {
  const [api, ...others] = apis;
  if (!api) return undefined;
  if (others.length > 0) throw new StartError('The template has more than one AWS::AppSync::Api.');
  const config = api.properties.EventConfig as EventConfig;
  const { arn } = api;
  const uri = config.AuthProviders.find(({ AuthType }) => AuthType === 'AWS_LAMBDA')?.LambdaAuthorizerConfig
    ?.AuthorizerUri;
  const authorizer = functions.find((candidate) => candidate.arn === uri);
  if (!authorizer) throw new StartError(`The Event API ${api.path} has no authorizer function in the template.`);
  if (!mayInvoke(permissions, APPSYNC, arn, authorizer))
    throw new StartError(
      `The Event API ${api.path} cannot call ${authorizer.name}: no AWS::Lambda::Permission lets ${APPSYNC} do so.`,
    );
  if (modesOf(config.ConnectionAuthModes, api.path).join() !== 'AWS_LAMBDA')
    throw new StartError(`The Event API ${api.path} must authorize connections by its function only.`);
  const models = namespaces.map(({ path, properties }): NamespaceModel => ({
    name: String(properties.Name),
    publish: modesOf(properties.PublishAuthModes ?? config.DefaultPublishAuthModes, path),
    subscribe: modesOf(properties.SubscribeAuthModes ?? config.DefaultSubscribeAuthModes, path),
  }));
  return { arn, authorizer, namespaces: new Map(models.map((model) => [model.name, model])) };
}

function modesOf(modes: unknown, path: string): AuthMode[] {
  return (modes as readonly { AuthType: string }[]).map(({ AuthType }) => {
    if (AuthType === 'AWS_LAMBDA' || AuthType === 'AWS_IAM') return AuthType;
    throw new StartError(`${path} has the authorization mode ${AuthType}, which the local run does not support.`);
  });
}
