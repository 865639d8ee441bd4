/**
 * A command of the SDK, without the SDK's code for its serialisation, which no function needs. The clients that replace those of
 * the SDK (see build.ts) read only the class and the input of a command.
 */
export class LambdaCommand {
  readonly input: object;

  constructor(input: object) {
    this.input = input;
  }
}
