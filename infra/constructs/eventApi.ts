import { CfnApi, CfnChannelNamespace } from 'aws-cdk-lib/aws-appsync';
import { CfnPermission, type Function } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { DOCUMENT_NAMESPACE, USER_NAMESPACE } from '../../lib/live/rules/channels.ts';

export interface EventApi {
  readonly httpHost: string;
  readonly realtimeHost: string;
  readonly namespaceArns: readonly string[];
}

const users = { authType: 'AWS_LAMBDA' } as const;
const publisher = { authType: 'AWS_IAM' } as const;

/**
 * Users connect, subscribe, and publish awareness with a token that the authorizer checks. The publisher signs its
 * requests.
 */
export function createEventApi(scope: Construct, name: string, authorizer: Function): EventApi {
  const api = new CfnApi(scope, 'EventApi', {
    name,
    eventConfig: {
      authProviders: [
        // AppSync would cache one answer for all requests with a token, but rights differ by channel.
        {
          ...users,
          lambdaAuthorizerConfig: { authorizerUri: authorizer.functionArn, authorizerResultTtlInSeconds: 0 },
        },
        publisher,
      ],
      connectionAuthModes: [users],
      defaultPublishAuthModes: [publisher],
      defaultSubscribeAuthModes: [users],
    },
  });
  new CfnPermission(scope, 'EventApiMayAuthorize', {
    action: 'lambda:InvokeFunction',
    functionName: authorizer.functionArn,
    principal: 'appsync.amazonaws.com',
    sourceArn: api.attrApiArn,
  });
  // The authorizer refuses publishes to channels other than those of awareness.
  new CfnChannelNamespace(scope, 'DocumentChannels', {
    apiId: api.attrApiId,
    name: DOCUMENT_NAMESPACE,
    publishAuthModes: [users, publisher],
    subscribeAuthModes: [users],
  });
  new CfnChannelNamespace(scope, 'UserChannels', {
    apiId: api.attrApiId,
    name: USER_NAMESPACE,
    publishAuthModes: [publisher],
    subscribeAuthModes: [users],
  });
  return {
    httpHost: api.attrDnsHttp,
    realtimeHost: api.attrDnsRealtime,
    namespaceArns: [DOCUMENT_NAMESPACE, USER_NAMESPACE].map(
      (namespace) => `${api.attrApiArn}/channelNamespace/${namespace}`,
    ),
  };
}
