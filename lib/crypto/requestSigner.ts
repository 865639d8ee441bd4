import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly host: string;
  readonly path: string;
  /** Names in lower case. The signer adds `host`, `x-amz-date` and `x-amz-security-token`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signature Version 4 of POST requests for one service and region. The signer of the SDK takes several times as long.
 */
export class RequestSigner {
  readonly #region: string;
  readonly #service: string;
  #derived: { readonly from: string; readonly key: KeyObject } | undefined;

  constructor(region: string, service: string) {
    this.#region = region;
    this.#service = service;
  }

  /** `now` is epoch ms. */
  sign(
    { host, path, headers: signed, body }: UnsignedRequest,
    { accessKeyId, secretAccessKey, sessionToken }: SigningCredentials,
    now: number,
  ): Record<string, string> {
    const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
    const day = time.slice(0, 8);
    const headers: Record<string, string> = {
      ...signed,
      host,
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    };
    const sortedNames = Object.keys(headers).sort();
    const names = sortedNames.join(';');
    const lines = sortedNames.map((name) => `${name}:${headers[name]}\n`);
    const canonical = `POST\n${path}\n\n${lines.join('')}\n${names}\n${hash('sha256', body)}`;
    const scope = `${day}/${this.#region}/${this.#service}/aws4_request`;
    const toSign = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', this.#signingKey(secretAccessKey, day)).update(toSign).digest('hex');
    const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...headers, authorization };
  }

  #signingKey(secretAccessKey: string, day: string): KeyObject {
    const from = `${day} ${secretAccessKey}`;
    if (this.#derived?.from === from) return this.#derived.key;
    const parts = [day, this.#region, this.#service, 'aws4_request'];
    let key = Buffer.from(`AWS4${secretAccessKey}`);
    for (const part of parts) key = createHmac('sha256', key).update(part).digest();
    this.#derived = { from, key: createSecretKey(key) };
    return this.#derived.key;
  }
}
