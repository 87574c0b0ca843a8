import type { ApiClient } from './index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';

interface RecordedCall {
  readonly verb: string;
  readonly options: unknown;
}

/** A client that answers every request with `answer` (an Error is thrown) and records the options it was given. */
export function recordingClient(answer: KubernetesObject | Error | undefined): {
  client: ApiClient;
  calls: RecordedCall[];
} {
  const calls: RecordedCall[] = [];
  const reply = async <T>(verb: string, options: unknown): Promise<T> => {
    calls.push({ verb, options });
    if (answer instanceof Error) throw answer;
    return answer as T;
  };
  const client: ApiClient = {
    get: (_type, _ref, options) => reply('get', options),
    list: (_type, options) => reply('list', options),
    watch: () => {
      throw new Error('no watches here');
    },
    logs: () => {
      throw new Error('no logs here');
    },
    exec: (_pod, _command, options) => reply('exec', options),
    portForward: (_pod, _port, options) => reply('portforward', options),
    create: (_type, _object, options) => reply('create', options),
    update: (_type, _object, options) => reply('update', options),
    patch: (_type, _ref, _patch, options) => reply('patch', options),
    delete: async <T extends KubernetesObject>(_type: unknown, _ref: unknown, options: unknown) => {
      const object = await reply<T | undefined>('delete', options);
      return object === undefined ? {} : { object };
    },
    deleteCollection: async (_type, options) => void (await reply('deletecollection', options)),
    discover: (options) => reply('discover', options),
    ping: (options) => reply('ping', options),
    verifiesNames: (options) => reply('verifiesNames', options),
  };
  return { client, calls };
}
