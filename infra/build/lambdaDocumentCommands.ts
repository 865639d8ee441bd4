/**
 * Replaces the commands of the SDK's document client in the bundles (see build.ts). `lib/table/documentClient.ts` reads
 * only the names and inputs of commands. The SDK's commands also contain serialisation code, which no function needs.
 */
class DocumentCommand {
  readonly input: object;

  constructor(input: object) {
    this.input = input;
  }
}

export class BatchGetCommand extends DocumentCommand {}
export class BatchWriteCommand extends DocumentCommand {}
export class DeleteCommand extends DocumentCommand {}
export class GetCommand extends DocumentCommand {}
export class PutCommand extends DocumentCommand {}
export class QueryCommand extends DocumentCommand {}
export class SearchVectorsCommand extends DocumentCommand {}
export class TransactWriteCommand extends DocumentCommand {}
export class UpdateCommand extends DocumentCommand {}
