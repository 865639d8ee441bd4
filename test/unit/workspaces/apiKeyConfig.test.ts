import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ApiKeyConfigChange,
  changeApiKeyConfig,
  initialApiKeyConfig,
  maskKey,
  toAiKeysResponse,
} from '../../../lib/workspaces/rules/apiKeyConfig.ts';
import { requestIssues } from '../../support/requestIssues.ts';

const key = (name: string) => ({ sealedKey: `sealed ${name}`, displayText: `****${name}` });
const removed = { sealedKey: '', displayText: '' };

describe('the configuration of an API key', () => {
  test('keeps the fields that an update does not send', () => {
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

  test('deletes an AI key that is sent empty', () => {
    const stored = { ...initialApiKeyConfig, aiKeys: { openai: key('1'), gemini: key('2') } };
    expect(changeApiKeyConfig(stored, {}, { openai: removed, anthropic: removed }).aiKeys).toEqual({
      gemini: key('2'),
    });
    expect(changeApiKeyConfig(stored, {}, { openai: key('3') }).aiKeys).toEqual({ openai: key('3'), gemini: key('2') });
  });

  test('returns masked AI keys of all or of given providers', () => {
    const aiKeys = { openai: key('1'), gemini: key('2') };
    expect({ ...toAiKeysResponse(aiKeys) }).toEqual({
      openai: { displayText: '****1' },
      gemini: { displayText: '****2' },
    });
    expect({ ...toAiKeysResponse(aiKeys, ['gemini', 'anthropic']) }).toEqual({ gemini: { displayText: '****2' } });
  });

  test('masks all but at most four characters and a quarter of the key', () => {
    expect(['sk-0123456789-x7Qa', '0123456789abcdef', '0123456789abcde', 'k'].map(maskKey)).toEqual([
      '****x7Qa',
      '****cdef',
      '****',
      '****',
    ]);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100 }), (text) => {
        const visibleEnd = maskKey(text).slice(4);
        expect(text.endsWith(visibleEnd)).toBe(true);
        expect(visibleEnd.length).toBeLessThanOrEqual(Math.min(4, text.length / 4));
      }),
    );
  });

  test.each([
    [JSON.parse('{"__proto__":{},"requireJwtToken":true}'), '__proto__'],
    [{ aiModelApiKey: [{ provider: 'openai', customerApiKey: 'k\n' }] }, 'aiModelApiKey.0.customerApiKey'],
    [
      {
        aiModelApiKey: [
          { provider: 'openai', customerApiKey: 'k' },
          { provider: 'openai', customerApiKey: 'l' },
        ],
      },
      'aiModelApiKey',
    ],
  ])('rejects %j with an issue at %p', (sent, path) => {
    expect(requestIssues(ApiKeyConfigChange, sent).map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});
