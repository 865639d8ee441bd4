import { expect, test } from '@jest/globals';
import { warningsOf } from '../../../lib/workspaces/rules/storedOnly.ts';

const key = (customerApiKey: string) => ({ provider: 'openai', customerApiKey });

test.each([
  [{ enablePrivateComments: true, requireJwtToken: false, requireAutoOrgUser: undefined }, ['enablePrivateComments']],
  [{ requireJwtToken: true, requireAutoOrgUser: true }, ['requireJwtToken', 'requireAutoOrgUser']],
  [{ aiModelApiKey: [key(''), key('a'), key('b')] }, ['aiModelApiKey.customerApiKey']],
  [{ aiModelApiKey: [key('')] }, []],
  [
    {
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: 'https://a.test', authToken: 'x' },
    },
    ['usePermissionProvider', 'permissionProviderConfig.permissionProviderUrl', 'permissionProviderConfig.authToken'],
  ],
  [{ usePermissionProvider: false, permissionProviderConfig: { permissionProviderUrl: '', authToken: '' } }, []],
  [{ defaultDocumentAccessType: 'restricted', editorVersions: null }, []],
])('warns of %j once for each setting without effect', (input, fields) => {
  const { warnings } = warningsOf(input);
  expect(warnings?.map(({ field }) => field)).toEqual(fields.length > 0 ? fields : undefined);
  for (const { reason } of warnings ?? []) expect(reason).toMatch(/^The .*\.$|^Users .*\.$/);
});
