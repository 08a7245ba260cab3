/*
 * Readings from weather stations: a partitioned table, a function that guards
 * the input, and a few analytical queries. PostgreSQL 14 or later.
 */

CREATE SCHEMA IF NOT EXISTS weather;
SET search_path TO weather, public;

CREATE TYPE sky_condition AS ENUM ('clear', 'cloudy', 'rain', 'snow', 'fog');

CREATE TABLE station (
    station_code  CHAR(4) PRIMARY KEY,
    place_name    TEXT NOT NULL,
    elevation_m   NUMERIC(6, 1) NOT NULL CHECK (elevation_m BETWEEN -430 AND 8850),
    equipment     JSONB NOT NULL DEFAULT '{}'::jsonb,
    opened_on     DATE NOT NULL DEFAULT CURRENT_DATE
);

CREATE TABLE reading (
    station_code  CHAR(4) NOT NULL REFERENCES station,
    taken_at      TIMESTAMPTZ NOT NULL,
    temperature_c REAL NOT NULL,
    humidity_pct  SMALLINT CHECK (humidity_pct BETWEEN 0 AND 100),
    rainfall_mm   REAL NOT NULL DEFAULT 0,
    sky           sky_condition,
    PRIMARY KEY (station_code, taken_at)
) PARTITION BY RANGE (taken_at);

CREATE TABLE reading_2022 PARTITION OF reading
    FOR VALUES FROM ('2022-01-01 00:00+00') TO ('2023-01-01 00:00+00');
CREATE TABLE reading_2023 PARTITION OF reading
    FOR VALUES FROM ('2023-01-01 00:00+00') TO ('2024-01-01 00:00+00');

CREATE OR REPLACE FUNCTION record_reading(
    p_station     TEXT,
    p_taken_at    TIMESTAMPTZ,
    p_temperature REAL,
    p_humidity    INTEGER DEFAULT NULL
) RETURNS BOOLEAN
LANGUAGE plpgsql AS $$
DECLARE
    v_previous REAL;
BEGIN
    SELECT temperature_c INTO v_previous
    FROM reading
    WHERE station_code = p_station AND taken_at < p_taken_at
    ORDER BY taken_at DESC
    LIMIT 1;

    -- A leap of more than 25 degrees is far likelier a fault than weather.
    IF v_previous IS NOT NULL AND abs(p_temperature - v_previous) > 25 THEN
        RAISE NOTICE 'station %: % °C after % °C, ignored', p_station, p_temperature, v_previous;
        RETURN FALSE;
    END IF;

    INSERT INTO reading (station_code, taken_at, temperature_c, humidity_pct)
    VALUES (p_station, p_taken_at, p_temperature, p_humidity)
    ON CONFLICT (station_code, taken_at) DO UPDATE
        SET temperature_c = EXCLUDED.temperature_c,
            humidity_pct  = COALESCE(EXCLUDED.humidity_pct, reading.humidity_pct);
    RETURN TRUE;
END;
$$;

INSERT INTO station (station_code, place_name, elevation_m, equipment) VALUES
    ('RVK1', 'Reykjavík harbour', 3.5,    '{"gauge": "tipping", "sensors": [1, 2]}'),
    ('LPZ2', 'La Paz, El Alto',   4061.0, '{"gauge": "weighing", "heated": true}'),
    ('SPR3', '札幌 (Sapporo)',     17.4,   DEFAULT);

-- Daily figures with a seven-day moving average for each station.
WITH daily AS (
    SELECT
        station_code,
        date_trunc('day', taken_at)::date AS day,
        min(temperature_c) AS coldest,
        max(temperature_c) AS warmest,
        avg(temperature_c) AS mean_c,
        sum(rainfall_mm) FILTER (WHERE sky IN ('rain', 'snow')) AS precipitation
    FROM reading
    WHERE taken_at >= now() - INTERVAL '90 days'
    GROUP BY 1, 2
)
SELECT
    s.place_name,
    d.day,
    round((d.warmest - d.coldest)::numeric, 1) AS swing,
    round((avg(d.mean_c) OVER week)::numeric, 2) AS moving_mean,
    d.mean_c - lag(d.mean_c) OVER (PARTITION BY d.station_code ORDER BY d.day) AS change,
    coalesce(d.precipitation, 0.0) AS precipitation
FROM daily d
JOIN station s USING (station_code)
WINDOW week AS (PARTITION BY d.station_code ORDER BY d.day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
ORDER BY s.place_name, d.day DESC;

-- Stations with a heated gauge, and the sensors that each one carries.
SELECT station_code, equipment ->> 'gauge' AS gauge, sensor.value::int AS sensor_no
FROM station
LEFT JOIN LATERAL jsonb_array_elements_text(equipment -> 'sensors') AS sensor ON TRUE
WHERE equipment @> '{"heated": true}' OR elevation_m < 10;
