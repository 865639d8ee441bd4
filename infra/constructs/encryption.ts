import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnTopic } from 'aws-cdk-lib/aws-sns';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import type { IamGrant } from '../../lib/app/capability.ts';
import { LambdaFunction } from './lambdaFunction.ts';
import type { SourceAction } from './workerFunction.ts';

const read = ['Decrypt', 'DescribeKey'];
const write = [...read, 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];
const open = ['Decrypt'];
const send = ['Decrypt', 'GenerateDataKey'];

/** AWS services use the key in the name of the caller, who needs these actions of KMS. */
const keyActions: Readonly<Record<IamGrant['actions'][number] | SourceAction, readonly string[]>> = {
  GetItem: read,
  BatchGetItem: read,
  Query: read,
  SearchVectors: read,
  DescribeStream: read,
  GetRecords: read,
  GetShardIterator: read,
  ListStreams: [],
  PutItem: write,
  UpdateItem: write,
  DeleteItem: write,
  BatchWriteItem: write,
  GetSecretValue: open,
  SendMessage: send,
  ReceiveMessage: open,
  DeleteMessage: [],
  ChangeMessageVisibility: [],
  GetQueueAttributes: [],
  InvokeModel: [],
  SendEmail: [],
  EventPublish: [],
};

/**
 * Encrypts log groups, secrets, topics and queues, but not the table. Lets each function use the key as its other
 * permissions require.
 */
export function encryptWith(kmsKeyArn: string, scope: IConstruct): void {
  for (const construct of scope.node.findAll()) {
    if (construct instanceof CfnLogGroup || construct instanceof CfnSecret) construct.kmsKeyId = kmsKeyArn;
    else if (construct instanceof CfnTopic) construct.kmsMasterKeyId = kmsKeyArn;
    else if (construct instanceof CfnQueue) {
      construct.kmsMasterKeyId = kmsKeyArn;
      construct.sqsManagedSseEnabled = undefined;
    } else if (construct instanceof LambdaFunction) {
      const actions = construct.statements.flatMap((statement) => statement.actions.flatMap(keyActionsFor));
      if (actions.length > 0) construct.allow({ actions: [...new Set(actions)].sort(), resources: [kmsKeyArn] });
    }
  }
}

function keyActionsFor(action: string): string[] {
  const [, name = ''] = action.split(':');
  if (!Object.hasOwn(keyActions, name)) throw new Error(`encryption.ts does not say what ${action} needs of a key.`);
  return keyActions[name as keyof typeof keyActions].map((keyAction) => `kms:${keyAction}`);
}
