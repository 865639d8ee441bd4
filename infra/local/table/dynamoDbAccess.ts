import type { Access } from '../iam/awsService.ts';
import { tableArn } from '../iam/identity.ts';

interface TableInput {
  readonly TableName?: string;
  readonly IndexName?: string;
}

interface Input extends TableInput {
  readonly RequestItems?: Record<string, unknown>;
  readonly TransactItems?: readonly Record<string, TableInput>[];
}

/** IAM has actions for the items of a transaction, none for the transaction. */
const itemActions: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

export function dynamoDbAccesses(operation: string, input: Input): Access[] {
  if (input.TransactItems) {
    return input.TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, target]) => access(itemActions[kind] ?? kind, target)),
    );
  }
  if (input.RequestItems) return Object.keys(input.RequestItems).map((TableName) => access(operation, { TableName }));
  return [access(operation, input)];
}

function access(operation: string, { TableName, IndexName }: TableInput): Access {
  if (TableName === undefined) return { action: `dynamodb:${operation}`, resource: '*' };
  const table = TableName.startsWith('arn:') ? TableName : tableArn(TableName);
  return { action: `dynamodb:${operation}`, resource: IndexName === undefined ? table : `${table}/index/${IndexName}` };
}
