import type { Statement } from '../iam/iam.ts';

/** A function as the template describes it. */
export interface FunctionModel {
  readonly name: string;
  readonly arn: string;
  readonly codeDir: string;
  /** The file without its extension, then a dot, then the name of the exported function, such as `index.handler`. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly statements: readonly Statement[];
}
