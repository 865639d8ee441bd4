import { randomBytes } from 'node:crypto';
import type { Statement } from './iam.ts';
import { ACCOUNT } from './identity.ts';
import { signatureVerifier } from './signature.ts';

/** A function, or the operator, who may do everything. */
export interface Principal {
  readonly name: string;
  readonly arn: string;
  readonly statements: readonly Statement[] | 'everything';
}

export interface KeyHolder {
  readonly principal: Principal;
  readonly isSignatureValid: ReturnType<typeof signatureVerifier>;
}

export interface AccessKey {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
}

/** Keys are random and new in each run. */
export class Principals {
  readonly #byAccessKey = new Map<string, KeyHolder>();

  byAccessKey(id: string): KeyHolder | undefined {
    return this.#byAccessKey.get(id);
  }

  /** Throws for an unknown key. */
  ofKey({ AWS_ACCESS_KEY_ID: id }: AccessKey): Principal {
    const holder = this.#byAccessKey.get(id);
    if (!holder) throw new Error(`There is no access key ${id}`);
    return holder.principal;
  }

  addFunction({ name, statements }: { name: string; statements: readonly Statement[] }): AccessKey {
    return this.#add({ name, arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`, statements });
  }

  addOperator(): AccessKey {
    return this.#add({ name: 'operator', arn: `arn:aws:iam::${ACCOUNT}:user/operator`, statements: 'everything' });
  }

  #add(principal: Principal): AccessKey {
    // DynamoDB Local refuses other characters than letters and digits.
    const id = `LOCAL${randomBytes(8).toString('hex').slice(1).toUpperCase()}`;
    const secret = randomBytes(30).toString('base64url');
    this.#byAccessKey.set(id, { principal, isSignatureValid: signatureVerifier(secret) });
    return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
  }
}
