// Which member of the group reads which partitions, as its leader shares them out: each gets those of topics that it reads, and
// of no others. The client's own way shares the leader's topic among all and leaves those of the others out. Pure.

import type { GroupPartitionsAssigner } from '@platformatic/kafka'

export const sharePartitions: GroupPartitionsAssigner = (_, members, __, { topics }) => {
  const shares = [...members].map(([memberId, member]) => ({
    memberId,
    topics: member.topics ?? [],
    assignments: new Map<string, { topic: string; partitions: number[] }>(),
  }))
  for (const [topic, { partitionsCount }] of topics) {
    const readers = shares.filter((share) => share.topics.includes(topic))
    for (let partition = 0; partition < partitionsCount; partition++) {
      const own = readers[partition % readers.length]?.assignments
      const partitions = own?.get(topic)?.partitions ?? []
      own?.set(topic, { topic, partitions: [...partitions, partition] })
    }
  }
  return shares.map(({ memberId, assignments }) => ({ memberId, assignments }))
}
