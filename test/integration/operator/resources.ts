// The namespace and the key Secret that several tests of the operator create.

export const namespace = 'team-a';

export const keySecret = (name: string, apiKey: string, where = namespace) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: where },
  stringData: { apiKey },
});
