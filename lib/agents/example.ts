export const exampleGroup = {
  id: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
  name: 'Website',
  agentIds: ['spell-check'],
  metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
  createdAt: 1795300000000,
  updatedAt: 1795300000000,
};
