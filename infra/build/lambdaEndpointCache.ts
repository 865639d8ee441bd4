/**
 * Replaces the AWS SDK's cache of discovered endpoints in the bundles (see build.ts). Functions never turn endpoint discovery on, so nothing is
 * ever cached. The SDK's own cache brings a library of 7 kB into every bundle that reads the table.
 */
export class EndpointCache {
  getEndpoint(): undefined {}
  get(): undefined {}
  set(): void {}
  delete(): void {}
  clear(): void {}
  has(): boolean {
    return false;
  }
}
