import { MemoryHolderWitness, MemoryPresence } from '../../testing/fake-holder-witness.js';
import { runHolderWitnessContract } from '../../testing/holder-witness-contract.js';

runHolderWitnessContract('MemoryHolderWitness', async () => {
  const presence = new MemoryPresence();
  const witnesses = new Map<string, MemoryHolderWitness>();
  return {
    witness(identity) {
      const witness = new MemoryHolderWitness(identity, presence);
      witnesses.set(identity, witness);
      return witness;
    },
    kill: (identity) => presence.hide(identity),
    breakLinks(identity) {
      const witness = witnesses.get(identity);
      witness?.breakLink();
      setImmediate(() => witness?.join());
    },
    stop: async () => undefined,
  };
});
