import { randomBytes } from 'node:crypto';
import { ACCOUNT } from './identity.ts';
import type { Statement } from './iam.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { signatureVerifier } from './signature.ts';

/** Who calls AWS: a function under its role, or the operator, who may do everything. */
export interface Principal {
  readonly name: string;
  readonly arn: string;
  readonly statements: readonly Statement[] | 'everything';
}

/** A caller with the check of the signatures that its secret makes. */
export interface KeyHolder {
  readonly principal: Principal;
  readonly isSignedByHolder: ReturnType<typeof signatureVerifier>;
}

export interface AccessKey {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
}

/** The callers by their access keys. Keys are random and end with the run, so that no other program can know one. */
export class Principals {
  readonly #byAccessKey = new Map<string, KeyHolder>();

  byAccessKey(id: string): KeyHolder | undefined {
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
    const id = `LOCAL${randomBytes(8).toString('hex').slice(1).toUpperCase()}`;
    const secret = randomBytes(30).toString('base64url');
    this.#byAccessKey.set(id, { principal, isSignedByHolder: signatureVerifier(secret) });
    return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
  }
}
