// Which requests may have their body under way. Where there is no room, the oldest body of the client that has most of them
// is cut: a sender of hooks sends its body within milliseconds, so the slowest client is not one.
// Invariant: never more bodies than the bounds allow, in all and for each client.

export interface BodySlotLimits {
  readonly atOnce: number;
  readonly perClient: number;
}

export interface BodySlots {
  /**
   * Always gives a slot.
   * @param cut ends this body, when another needs its slot
   * @returns gives the slot back; more calls change nothing
   */
  enter(client: string, cut: () => void): () => void;
}

interface Body {
  readonly client: string;
  readonly cut: () => void;
}

export function createBodySlots({ atOnce, perClient }: BodySlotLimits): BodySlots {
  /** Oldest first. */
  const bodies = new Set<Body>();
  const ofClient = (client: string): readonly Body[] => [...bodies].filter((one) => one.client === client);
  const cutOldest = (client: string): void => {
    const [oldest] = ofClient(client);
    if (oldest === undefined) return;
    bodies.delete(oldest);
    oldest.cut();
  };
  const busiest = (): string => {
    const counts = Map.groupBy(bodies, ({ client }) => client);
    const [[client = ''] = []] = [...counts].toSorted(([, one], [, other]) => other.length - one.length);
    return client;
  };
  return {
    enter: (client, cut) => {
      if (ofClient(client).length >= perClient) cutOldest(client);
      else if (bodies.size >= atOnce) cutOldest(busiest());
      const body = { client, cut };
      bodies.add(body);
      return () => void bodies.delete(body);
    },
  };
}
