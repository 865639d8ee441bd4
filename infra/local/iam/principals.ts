import { randomBytes } from 'node:crypto';
import { ACCOUNT } from './identity.ts';
import type { Statement } from './iam.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { signatureVerifier } from './signature.ts';

/** A caller of the AWS endpoint: a function with the statements of its role, or the operator, who may do everything. */
export interface Principal {
  readonly name: string;
  readonly arn: string;
  readonly statements: readonly Statement[] | 'everything';
}

/** A caller, and the function that checks the signatures made with the caller's secret. */
export interface KeyHolder {
  readonly principal: Principal;
  readonly isSignatureValid: ReturnType<typeof signatureVerifier>;
}

export interface AccessKey {
  readonly AWS_ACCESS_KEY_ID: string;
  readonly AWS_SECRET_ACCESS_KEY: string;
}

/** The callers by their access keys. Each run creates random keys, so that no other program has one. */
export class Principals {
  readonly #byAccessKey = new Map<string, KeyHolder>();

  byAccessKey(id: string): KeyHolder | undefined {
    return this.#byAccessKey.get(id);
  }

  /** Returns the caller with this key. Throws if this object did not create the key. */
  ofKey({ AWS_ACCESS_KEY_ID: id }: AccessKey): Principal {
    const holder = this.#byAccessKey.get(id);
    if (!holder) throw new Error(`There is no access key ${id}`);
    return holder.principal;
  }

  /** Creates the access key of a function. */
  addFunction({ name, statements }: FunctionModel): AccessKey {
    return this.#add({ name, arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`, statements });
  }

  addOperator(): AccessKey {
    return this.#add({ name: 'operator', arn: `arn:aws:iam::${ACCOUNT}:user/operator`, statements: 'everything' });
  }

  #add(principal: Principal): AccessKey {
    // The id has letters and digits only, because DynamoDB Local refuses other characters.
    const id = `LOCAL${randomBytes(8).toString('hex').slice(1).toUpperCase()}`;
    const secret = randomBytes(30).toString('base64url');
    this.#byAccessKey.set(id, { principal, isSignatureValid: signatureVerifier(secret) });
    return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
  }
}
