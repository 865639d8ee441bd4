import type * as sdk from '@aws-sdk/lib-dynamodb';

export interface DocumentCommand<Output> {
  readonly constructor: { readonly name: string };
  readonly input: object;
  readonly output?: Output;
}

/** The SDK's document client has the same commands. Its classes would add an unused serialisation to every bundle. */
class TableCommand<Input extends object, Output> implements DocumentCommand<Output> {
  readonly input: Input;
  declare readonly output?: Output;

  constructor(input: Input) {
    this.input = input;
  }
}

export class BatchGetCommand extends TableCommand<sdk.BatchGetCommandInput, sdk.BatchGetCommandOutput> {}
export class BatchWriteCommand extends TableCommand<sdk.BatchWriteCommandInput, sdk.BatchWriteCommandOutput> {}
export class DeleteCommand extends TableCommand<sdk.DeleteCommandInput, sdk.DeleteCommandOutput> {}
export class GetCommand extends TableCommand<sdk.GetCommandInput, sdk.GetCommandOutput> {}
export class PutCommand extends TableCommand<sdk.PutCommandInput, sdk.PutCommandOutput> {}
export class QueryCommand extends TableCommand<sdk.QueryCommandInput, sdk.QueryCommandOutput> {}
export class SearchVectorsCommand extends TableCommand<sdk.SearchVectorsCommandInput, sdk.SearchVectorsCommandOutput> {}
export class TransactWriteCommand extends TableCommand<sdk.TransactWriteCommandInput, sdk.TransactWriteCommandOutput> {}
export class UpdateCommand extends TableCommand<sdk.UpdateCommandInput, sdk.UpdateCommandOutput> {}
