import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ApiKeyConfigChange,
  changeApiKeyConfig,
  initialApiKeyConfig,
  maskKey,
  toAiKeysResponse,
} from '../../../lib/workspaces/rules/apiKeyConfig.ts';

const key = (name: string) => ({ sealedKey: `sealed ${name}`, displayText: `****${name}` });
const removed = { sealedKey: '', displayText: '' };

describe('the settings of an API key (facts C1)', () => {
  test('change where they are sent, and are otherwise kept', () => {
    const first = changeApiKeyConfig(
      undefined,
      { enablePrivateComments: true, defaultDocumentAccessType: 'restricted' },
      { openai: key('1') },
    );
    expect(first).toEqual({
      ...initialApiKeyConfig,
      isPrivateCommentsEnabled: true,
      defaultDocumentAccessType: 'restricted',
      aiKeys: { openai: key('1') },
    });
    expect(
      changeApiKeyConfig(first, { requireJwtToken: true, enablePrivateComments: undefined }, { gemini: key('2') }),
    ).toEqual({ ...first, requireJwtToken: true, aiKeys: { openai: key('1'), gemini: key('2') } });
  });

  test('lose the AI key that is sent empty', () => {
    const stored = { ...initialApiKeyConfig, aiKeys: { openai: key('1'), gemini: key('2') } };
    expect(changeApiKeyConfig(stored, {}, { openai: removed, anthropic: removed }).aiKeys).toEqual({
      gemini: key('2'),
    });
    expect(changeApiKeyConfig(stored, {}, { openai: key('3') }).aiKeys).toEqual({ openai: key('3'), gemini: key('2') });
  });

  test('show AI keys masked, all or those asked for', () => {
    const aiKeys = { openai: key('1'), gemini: key('2') };
    expect({ ...toAiKeysResponse(aiKeys) }).toEqual({
      openai: { displayText: '****1' },
      gemini: { displayText: '****2' },
    });
    expect({ ...toAiKeysResponse(aiKeys, ['gemini', 'anthropic']) }).toEqual({ gemini: { displayText: '****2' } });
  });

  test('a mask shows at most the last four characters, and a quarter of the key', () => {
    expect(['sk-0123456789-x7Qa', '0123456789abcdef', '0123456789abcde', 'k'].map(maskKey)).toEqual([
      '****x7Qa',
      '****cdef',
      '****',
      '****',
    ]);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100 }), (text) => {
        const shown = maskKey(text).slice(4);
        expect(text.endsWith(shown)).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(Math.min(4, text.length / 4));
      }),
    );
  });

  test.each([
    [{ unknown: true }, ''],
    [JSON.parse('{"__proto__":{},"requireJwtToken":true}'), ''],
    [{ isPrivateCommentsEnabled: true }, ''],
    [{ defaultDocumentAccessType: 'private' }, 'defaultDocumentAccessType'],
    [{ requireJwtToken: 'yes' }, 'requireJwtToken'],
    [{ aiModelApiKey: [] }, 'aiModelApiKey'],
    [{ aiModelApiKey: {} }, 'aiModelApiKey'],
    [{ aiModelApiKey: [{ provider: 'mistral', customerApiKey: 'k' }] }, 'aiModelApiKey.0.provider'],
    [{ aiModelApiKey: [{ provider: 'openai' }] }, 'aiModelApiKey.0.customerApiKey'],
    [{ aiModelApiKey: [{ provider: 'openai', customerApiKey: 'k\n' }] }, 'aiModelApiKey.0.customerApiKey'],
    [{ aiModelApiKey: [{ provider: 'openai', customerApiKey: 'k', model: 'm' }] }, 'aiModelApiKey.0'],
    [
      {
        aiModelApiKey: [
          { provider: 'openai', customerApiKey: 'k' },
          { provider: 'openai', customerApiKey: 'l' },
        ],
      },
      'aiModelApiKey',
    ],
  ])('%j is refused at %p', (sent, path) => {
    expect(ApiKeyConfigChange.safeParse(sent).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});
