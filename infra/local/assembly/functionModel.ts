import type { Statement } from '../iam/iam.ts';

export interface FunctionModel {
  readonly name: string;
  readonly arn: string;
  readonly codeDir: string;
  /** The file without its extension and the name of the exported function, such as `index.handler`. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly statements: readonly Statement[];
}
