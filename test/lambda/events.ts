import { randomUUID } from 'node:crypto';

export type Headers = Readonly<Record<string, string>>;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly routeKey?: string;
  readonly query?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/**
 * Returns the event of an HTTP API in payload format 2.0, as AWS documents it:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function httpEvent(request: Request, encoding: 'plain' | 'base64'): object {
  const { method, path, routeKey = `${method} ${path}`, query = '', headers = {}, body } = request;
  const now = new Date();
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: {
      accept: '*/*',
      'content-length': String(Buffer.byteLength(body ?? '')),
      'content-type': 'application/json',
      host: 'a1b2c3d4e5.execute-api.us-east-1.amazonaws.com',
      'user-agent': 'curl/8.7.1',
      'x-amzn-trace-id': 'Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...headers,
    },
    ...(query !== '' && { queryStringParameters: Object.fromEntries(new URLSearchParams(query)) }),
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      domainName: 'a1b2c3d4e5.execute-api.us-east-1.amazonaws.com',
      domainPrefix: 'a1b2c3d4e5',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'curl/8.7.1' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey,
      stage: '$default',
      time: '12/Mar/2020:19:03:58 +0000',
      timeEpoch: now.getTime(),
    },
    ...(body !== undefined && { body: encoding === 'base64' ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: body !== undefined && encoding === 'base64',
  };
}

/** An event of a queue: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export function queueEvent(queueArn: string, bodies: readonly string[]): { Records: { messageId: string }[] } {
  const now = String(Date.now());
  return {
    Records: bodies.map((body) => ({
      messageId: randomUUID(),
      receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...',
      body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: now,
        SenderId: 'AIDAIENQZJOLO23YVJ4VO',
        ApproximateFirstReceiveTimestamp: now,
      },
      messageAttributes: {},
      md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: 'us-east-1',
    })),
  };
}

/** An event of a table's stream: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
export function streamEvent(streamArn: string, records: readonly object[]): object {
  return {
    Records: records.map((record) => ({
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      ...record,
      eventSourceARN: streamArn,
    })),
  };
}

/** An event of a schedule: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html */
export function timerEvent(ruleArn: string): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: '123456789012',
    time: '2020-03-12T19:03:00Z',
    region: 'us-east-1',
    resources: [ruleArn],
    detail: {},
  };
}

/**
 * An event of a Lambda authorizer of AppSync Events:
 * https://docs.aws.amazon.com/appsync/latest/eventapi/configure-event-api-auth.html
 */
export function authorizerEvent(token: string, operation: string, channel: string | null): object {
  return {
    authorizationToken: token,
    requestContext: {
      apiId: 'aaaaaa123123123example123',
      accountId: '111122223333',
      requestId: randomUUID(),
      operation,
      channelNamespaceName: channel === null ? null : channel.split('/')[1],
      channel,
    },
    requestHeaders: { host: 'example.appsync-api.us-east-1.amazonaws.com' },
  };
}
