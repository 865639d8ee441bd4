import { createDecipheriv, privateDecrypt } from 'node:crypto';

/** Returns the content of an encrypted body, `{ encryptedData, encryptedKey, iv }`. `privateKey` is your private key as PEM. */
export function openPayload({ encryptedData, encryptedKey, iv }, privateKey) {
  const key = privateDecrypt({ key: privateKey, oaepHash: 'sha256' }, Buffer.from(encryptedKey, 'base64'));
  const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'));
  return JSON.parse(decipher.update(encryptedData, 'base64', 'utf8') + decipher.final('utf8'));
}
