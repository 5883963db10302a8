// Where the zone of all times stands, and is switched.

import { Choice } from '../forms/field.tsx'
import { chooseZone, useZone, zoneName } from './zone.ts'

export function ZoneToggle() {
  const zone = useZone()
  return (
    <div className="side-choice">
      <Choice
        label="Time zone"
        value={zone}
        onChange={chooseZone}
        options={[
          ['local', 'Local'],
          ['UTC', 'UTC'],
        ]}
      />
      <span className="muted">Times are in {zoneName()}</span>
    </div>
  )
}
