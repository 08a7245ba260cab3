-- Lending library: schema, sample rows and the reports used at the front desk.
-- Written for SQLite 3.35 or later.

PRAGMA foreign_keys = ON;

BEGIN TRANSACTION;

CREATE TABLE IF NOT EXISTS member (
    member_id   INTEGER PRIMARY KEY,
    full_name   TEXT    NOT NULL,
    joined_on   TEXT    NOT NULL DEFAULT CURRENT_DATE,
    is_junior   INTEGER NOT NULL DEFAULT 0 CHECK (is_junior IN (0, 1))
);

CREATE TABLE IF NOT EXISTS book (
    book_id     INTEGER PRIMARY KEY,
    title       TEXT    NOT NULL,
    shelf_mark  TEXT    NOT NULL UNIQUE,
    copies      INTEGER NOT NULL DEFAULT 1 CHECK (copies >= 0)
);

CREATE TABLE IF NOT EXISTS loan (
    loan_id     INTEGER PRIMARY KEY,
    member_id   INTEGER NOT NULL REFERENCES member (member_id) ON DELETE CASCADE,
    book_id     INTEGER NOT NULL REFERENCES book (book_id),
    lent_on     TEXT    NOT NULL,
    due_on      TEXT    NOT NULL,
    returned_on TEXT,
    CHECK (due_on > lent_on),
    CHECK (returned_on IS NULL OR returned_on >= lent_on)
);

CREATE INDEX IF NOT EXISTS loan_open_idx
    ON loan (book_id, due_on)
    WHERE returned_on IS NULL;

-- Refuse a loan when every copy is already out.
CREATE TRIGGER IF NOT EXISTS loan_needs_copy
BEFORE INSERT ON loan
WHEN NEW.returned_on IS NULL
BEGIN
    SELECT RAISE(ABORT, 'no copy left on the shelf')
    WHERE (
        SELECT COUNT(*) FROM loan
        WHERE book_id = NEW.book_id AND returned_on IS NULL
    ) >= (SELECT copies FROM book WHERE book_id = NEW.book_id);
END;

INSERT INTO member (member_id, full_name, joined_on, is_junior) VALUES
    (1, 'Zoë Lindqvist',  '2019-02-11', 0),
    (2, 'Mateo Ibáñez',   '2021-09-30', 1),
    (3, 'Hana Dvořáková', '2022-06-05', 0);

INSERT INTO book (book_id, title, shelf_mark, copies) VALUES
    (10, 'Bridges and How They Stand', '624.2 B', 2),
    (11, 'Cooking for One',            '641.5 C', 1),
    (12, 'The Night Sky, Month by Month', '523.8 N', 3);

INSERT INTO loan (member_id, book_id, lent_on, due_on, returned_on) VALUES
    (1, 10, '2023-01-04', '2023-01-25', '2023-01-20'),
    (1, 12, '2023-02-01', '2023-02-22', NULL),
    (2, 10, '2023-02-10', '2023-03-03', '2023-03-09'),
    (3, 11, '2023-02-14', '2023-03-07', NULL);

COMMIT;

CREATE VIEW IF NOT EXISTS overdue AS
SELECT
    m.full_name,
    m.is_junior,
    b.title,
    l.due_on,
    CAST(julianday('2023-03-15') - julianday(l.due_on) AS INTEGER) AS days_late
FROM loan AS l
JOIN member AS m USING (member_id)
JOIN book   AS b USING (book_id)
WHERE l.returned_on IS NULL
  AND l.due_on < '2023-03-15';

-- Fines: 10 cents a day, half price for juniors, never more than 5.00.
SELECT
    full_name,
    title,
    days_late,
    printf('€ %.2f', MIN(5.00, days_late * CASE is_junior WHEN 1 THEN 0.05 ELSE 0.10 END)) AS fine
FROM overdue
ORDER BY days_late DESC, full_name COLLATE NOCASE;

-- How full the shelves are, as a small bar chart.
WITH open_loan AS (
    SELECT book_id, COUNT(*) AS lent_out
    FROM loan
    WHERE returned_on IS NULL
    GROUP BY book_id
)
SELECT
    b.shelf_mark || '  ' || b.title                 AS book,
    b.copies - COALESCE(o.lent_out, 0)              AS available,
    substr('■■■■■■■■', 1, COALESCE(o.lent_out, 0))  AS lent_out
FROM book AS b
LEFT JOIN open_loan AS o ON o.book_id = b.book_id
ORDER BY available, b.shelf_mark;

UPDATE loan
SET due_on = date(due_on, '+14 days')
WHERE returned_on IS NULL
  AND member_id = (SELECT member_id FROM member WHERE full_name LIKE 'Hana %')
RETURNING loan_id, due_on;
