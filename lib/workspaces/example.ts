export const exampleWorkspace = {
  id: 'ws_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
  name: 'Ada Lovelace workspace',
  owner: { email: 'ada@example.com', id: 'usr_2xgC5Rk0zXDyhXwLxRgfvRBJ3aZ', name: 'Ada Lovelace', avatar: '' },
  authToken: '3f1c9a4b7d2e4f60817263544a5b6c7d',
  apiKeyList: {
    key_2xgC5RqLyN9oFzL3hM5vW7tB1cD: {
      id: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD',
      apiKeyName: 'Ada Test API Key',
      type: 'testing',
    },
  },
} as const;
