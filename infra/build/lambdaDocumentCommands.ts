import { LambdaCommand } from './lambdaCommand.ts';

// `lib/table/documentClient.ts` reads only the names and inputs of these commands.
export class BatchGetCommand extends LambdaCommand {}
export class BatchWriteCommand extends LambdaCommand {}
export class DeleteCommand extends LambdaCommand {}
export class GetCommand extends LambdaCommand {}
export class PutCommand extends LambdaCommand {}
export class QueryCommand extends LambdaCommand {}
export class SearchVectorsCommand extends LambdaCommand {}
export class TransactWriteCommand extends LambdaCommand {}
export class UpdateCommand extends LambdaCommand {}
