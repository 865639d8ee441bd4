import { createHash } from 'node:crypto';
import { ACCOUNT } from './identity.ts';
import type { Statement } from './iam.ts';
import type { FunctionModel } from './model.ts';

/** Who calls AWS: a function under its role, or the operator, who may do everything. */
export interface Principal {
  readonly name: string;
  readonly arn: string;
  readonly statements: readonly Statement[] | 'everything';
}

export interface AccessKey {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
}

/** The callers by their access keys. The local endpoint checks no signature: a key says who calls and protects nothing. */
export class Principals {
  readonly #byAccessKey = new Map<string, Principal>();

  byAccessKey(id: string): Principal | undefined {
    return this.#byAccessKey.get(id);
  }

  /** The access key of a function, with the statements of its role. */
  addFunction({ name, statements }: FunctionModel): AccessKey {
    return this.#add({ name, arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`, statements });
  }

  addOperator(): AccessKey {
    return this.#add({ name: 'operator', arn: `arn:aws:iam::${ACCOUNT}:user/operator`, statements: 'everything' });
  }

  #add(principal: Principal): AccessKey {
    // Letters and digits only: DynamoDB Local refuses anything else in an access key.
    const id = `LOCAL${createHash('sha256').update(principal.arn).digest('hex').slice(0, 15).toUpperCase()}`;
    this.#byAccessKey.set(id, principal);
    return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: 'local' };
  }
}
